"""What the scripts that draw pictures for the documentation share: colours, light and dark, and an SVG as a list of
elements. A picture paints its own background, so it can be read on any page."""

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"

THEMES = {
    "light": {
        "page": "#ffffff",
        "card": "#f6f8fa",
        "line": "#d0d7de",
        "text": "#1f2328",
        "faint": "#59636e",
        "marks": ["#0969da", "#1a7f37", "#bc4c00"],
        "fills": ["#ddf4ff", "#dafbe1", "#fff1e5"],
    },
    "dark": {
        "page": "#0d1117",
        "card": "#161b22",
        "line": "#3d444d",
        "text": "#f0f6fc",
        "faint": "#9198a1",
        "marks": ["#58a6ff", "#3fb950", "#f0883e"],
        "fills": ["#0c2d6b", "#0f3d1c", "#4a2206"],
    },
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


class Picture:
    """An SVG in the colours of a theme."""

    def __init__(self, theme, title, width, height):
        self.theme = theme
        self.elements = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
            f' height="{height}" role="img" font-family="{FONT}">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{theme["page"]}"/>',
        ]

    def add(self, element):
        self.elements.append(element)

    def text(self, x, y, size, what, colour="text", weight=400, anchor="start"):
        colour = self.theme.get(colour, colour)
        self.add(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
            f' fill="{colour}">{what}</text>'
        )

    def box(self, x, y, width, height, fill, stroke, dashed=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" fill="{fill}"'
            f' stroke="{stroke}" stroke-width="1.3"{dash}/>'
        )

    def line(self, path, stroke, width=1.0, dashed=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(f'<path d="{path}" stroke="{stroke}" stroke-width="{width}"{dash} fill="none"/>')


def write(name, draw):
    """Writes docs/NAME-light.svg and docs/NAME-dark.svg. `draw` makes the picture in the colours of a theme."""
    for theme, colours in THEMES.items():
        picture = draw(colours)
        (DOCS / f"{name}-{theme}.svg").write_text("\n".join([*picture.elements, "</svg>", ""]), encoding="utf-8")
