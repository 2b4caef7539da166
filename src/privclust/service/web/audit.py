"""Pages of auditors and stewards: statements of the ledger, and the trail of acts."""

from __future__ import annotations

import json

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from privclust.reports.ledger_page import html_statement
from privclust.service.web.pages import Pager, Visitor, file_response, report_page

router = APIRouter(include_in_schema=False, prefix="/audit")


@router.get("")
def audit_page(visit: Visitor) -> Response:
    """Show the data sets whose statements can be read."""
    visit.check_reads_books()
    return visit.page("audit", datasets=visit.services.datasets.accounts())


@router.get("/acts")
def acts(visit: Visitor, after: int = 0) -> Response:
    """Give the trail of acts, one JSON object per line."""
    lines = [json.dumps(it.to_dict(), ensure_ascii=False) + "\n" for it in visit.trail(after)]
    return file_response("acts.jsonl", "".join(lines).encode(), "application/jsonl")


@router.get("/trail")
def trail_page(visit: Visitor) -> Response:
    """Show the trail of acts, the newest first."""
    visit.check_reads_books()
    pager = Pager.of(visit.request)
    found, pager = pager.cut(visit.services.acts.newest(pager.window))
    return visit.page("trail", acts=found, pager=pager)


@router.get("/{dataset_id}")
def statement(dataset_id: str, visit: Visitor, download: str = "") -> Response:
    """Show the statement of a data set, or give it as a file."""
    html = html_statement(visit.statement(dataset_id))
    if download:
        return file_response("statement.html", html.encode(), "text/html")
    way = [("/audit", "Audit")]
    return report_page(visit, html, "Statement", way, f"/audit/{dataset_id}?download=1")


@router.get("/{dataset_id}/export")
def export(dataset_id: str, visit: Visitor) -> Response:
    """Give the statement as JSON."""
    plain = visit.statement(dataset_id).to_dict()
    return JSONResponse(plain, headers={"Content-Disposition": "attachment"})
