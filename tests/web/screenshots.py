# SPDX-License-Identifier: MIT
"""Takes the pictures in docs/web/: three widths, light and dark."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "build" / "web" / "index.html").as_uri()
SIZES = {1440: 1040, 768: 1100, 390: 844}
# Far enough down to show what the picture is about.
SCROLLED = {(1440, "light"): "#tabs"}
# Something different on each, so that the six show most of the page.
STATES = {
    (1440, "light"): "#call=gather_elements+f32[3,4]={1,2,3,4,5,6,7,8,9,10,11,12}"
                     "+i64[3,2]={3,0,1,1,2,3}+axis=1+negative=out_of_range&as=torch.gather"
                     "&with=tf.gather&axis_b=1&batch_b=0&move=3&show=compare",
    (1440, "dark"): "#call=scatter+i32[5]={0,0,0,0,0}+i64[8]={1,3,1,0,4,1,3,1}"
                    "+i32[8]={1,1,1,1,1,1,1,1}+reduction=add&as=numpy.add.at&code=numpy"
                    "&point=output:1",
    (768, "light"): "#call=gather+f32[2,3,4]+i64[2,3]={1,1,0,2,0,2}+axis=1+batch_dims=1"
                    "+negative=out_of_range&as=tf.gather&point=output:17",
    (768, "dark"): "#call=bag+row_u8_f32[5,4]+i64[2,2]={4,0,2,2}+weights=f32[2,2]={1,2,0.5,1}&step=8",
    (390, "light"): "#call=gather+f32[4,3]={0,1,2,10,11,12,20,21,22,30,31,32}+i64[3]={3,0,3}"
                    "&as=numpy.take&point=output:7",
    (390, "dark"): "#call=gather+f32[4,3]={0,1,2,10,11,12,20,21,22,30,31,32}+i64[3]={3,0,3}"
                   "&as=numpy.take&step=8",
}


def main() -> None:
    folder = ROOT / "docs" / "web"
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                             args=["--no-sandbox"])
        for (width, theme), state in STATES.items():
            page = browser.new_page(viewport={"width": width, "height": SIZES[width]},
                                    color_scheme=theme, reduced_motion="reduce")
            page.goto(PAGE + state)
            page.wait_for_selector("html[data-ready]")
            if (width, theme) in SCROLLED:
                page.locator(SCROLLED[width, theme]).scroll_into_view_if_needed()
                page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            page.screenshot(path=folder / f"{width}-{theme}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
