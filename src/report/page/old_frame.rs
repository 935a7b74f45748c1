//! The frame of pages that do not use templates yet.

use super::html::Html;
use crate::report::wording::Wording;

pub(super) fn head(html: &mut Html, title: &'static str) {
    html.raw(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>",
    )
    .raw(title)
    .raw("</title>\n<style>\n")
    .raw(include_str!("style.css"))
    .raw("</style>\n</head>\n<body>\n<header>\n<h1>")
    .raw(title)
    .raw("</h1>\n");
}

pub(super) fn contents(html: &mut Html, wording: &Wording<'_>, study: bool, listed: bool) {
    html.raw("<nav aria-label=\"Contents\"><a href=\"#found\">What was found</a>");
    html.raw("<a href=\"#ledger\">Ledger</a><a href=\"#sizes\">Sizes and ")
        .raw(wording.noun())
        .raw("</a>");
    if study {
        html.raw("<a href=\"#study\">Sampling study</a>");
    }
    html.raw("<a href=\"#clusters\">Largest clusters</a>");
    if listed {
        html.raw("<a href=\"#nearest\">Pairs nearest the threshold</a>");
        html.raw("<a href=\"#random\">Pairs at random</a>");
    }
    html.raw("</nav>\n</header>\n<main>\n");
}

pub(super) fn end(html: &mut Html) {
    html.raw("</section>\n");
}

pub(super) fn foot(html: &mut Html, program: &str) {
    html.raw("</main>\n<footer>")
        .text(program)
        .raw(". This page loads no other file and runs no script.</footer>\n</body>\n</html>\n");
}
