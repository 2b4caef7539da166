"""Pages of auditors and stewards: statements of the ledger, and the trail of acts."""

from __future__ import annotations

import json
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from privclust.ledger.statement import LedgerStatement
from privclust.reports.ledger_page import html_statement
from privclust.service.accounts import Session, User
from privclust.service.errors import NotFoundError
from privclust.service.services import Services
from privclust.service.web.browse import file_response
from privclust.service.web.pages import CurrentSession, Pager, ServicesDep, page, report_page

router = APIRouter(include_in_schema=False)


@router.get("/audit")
def audit_page(session: CurrentSession, services: ServicesDep) -> Response:
    """Show the data sets whose statements can be read."""
    _check_reader(session)
    return page("audit", session, datasets=services.datasets.accounts())


@router.get("/audit/acts")
def acts(session: CurrentSession, services: ServicesDep, after: int = 0) -> Response:
    """Give the trail of acts, one JSON object per line."""
    _check_reader(session)
    found = services.acts.all(after)
    lines = [json.dumps(act.to_dict(), ensure_ascii=False) + "\n" for act in found]
    return file_response("".join(lines).encode(), "acts.jsonl", "application/jsonl")


@router.get("/audit/trail")
def trail_page(request: Request, session: CurrentSession, services: ServicesDep) -> Response:
    """Show the trail of acts, the newest first."""
    _check_reader(session)
    pager = Pager.of(request)
    found, pager = pager.cut(services.acts.newest(pager.window))
    return page("trail", session, acts=found, pager=pager)


@router.get("/audit/{dataset_id}")
def statement(
    dataset_id: str, session: CurrentSession, services: ServicesDep, download: str = ""
) -> Response:
    """Show the statement of a data set, or give it as a file."""
    html = html_statement(statement_of(session.user, services, dataset_id))
    if download:
        return file_response(html.encode(), "statement.html", "text/html")
    way = [("/audit", "Audit")]
    return report_page(session, html, "Statement", way, f"/audit/{dataset_id}?download=1")


@router.get("/audit/{dataset_id}/export")
def export(dataset_id: str, session: CurrentSession, services: ServicesDep) -> Response:
    """Give the statement as JSON."""
    plain = statement_of(session.user, services, dataset_id).to_dict()
    return JSONResponse(plain, headers={"Content-Disposition": "attachment"})


def statement_of(user: User, services: Services, dataset_id: str) -> LedgerStatement:
    """Return the verified statement of a data set; it does not say where its database lies."""
    names = {id_: name for id_, name, _ in services.datasets.accounts()}
    if not user.reads_ledger or dataset_id not in names:
        raise NotFoundError
    made = services.database.ledger.statement(names[dataset_id])
    return replace(made, address=made.address.rpartition("/")[2])


def _check_reader(session: Session) -> None:
    if not session.user.reads_ledger:
        raise NotFoundError
