import { css } from './css.ts';

/** A table on a sheet, and the link to it. */
export const TABLES = css`
  .sheet {
    padding: 0.5rem 1.25rem;
    border: 1px solid var(--line);
    border-radius: 1rem;
    background: var(--surface);
    box-shadow: var(--shadow);
  }
  .sheet > p {
    padding: 0.5rem 0;
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  th,
  td {
    padding: 0.5rem 0 0.5rem 1rem;
    text-align: start;
    vertical-align: top;
  }
  th:first-child,
  td:first-child {
    padding-inline-start: 0;
  }
  th,
  td + td {
    color: var(--muted);
    font-size: 0.875rem;
    overflow-wrap: normal;
  }
  .records td {
    overflow-wrap: anywhere;
  }
  .records td time {
    overflow-wrap: normal;
  }
  .roomy {
    max-width: 60rem;
  }
  .filters {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr));
    align-items: start;
    gap: 1.125rem;
  }
  .filters .buttons {
    align-self: end;
  }
  .ways > * {
    flex-grow: 0;
  }
  th {
    font-weight: 600;
  }
  .number {
    text-align: end;
    white-space: nowrap;
  }
  tbody tr {
    border-top: 1px solid var(--line);
  }
  @media (min-width: 40rem) {
    td time {
      white-space: nowrap;
    }
    .records td time {
      white-space: normal;
    }
  }
  @media (min-width: 60rem) {
    /* Columns are at least as wide as a usual word, so that only long identifiers break. */
    .records td {
      min-width: 6.5rem;
    }
  }
  /* The table becomes one column: on a narrow page, cells side by side would break inside words. */
  @media (max-width: 59.99rem) {
    .records thead {
      position: absolute;
      overflow: hidden;
      width: 1px;
      height: 1px;
      clip-path: inset(50%);
    }
    .records tr,
    .records td {
      display: block;
    }
    .records tr {
      padding: 0.5rem 0;
    }
    /* The header above the first row is hidden. */
    .records tbody tr:first-child {
      border-top: 0;
    }
    .records td {
      padding: 0.125rem 0;
    }
    .records td[data-name]::before {
      margin-inline-end: 0.5rem;
      color: var(--muted);
      content: attr(data-name) ':';
    }
  }
  .crumbs ol {
    display: flex;
    flex-wrap: wrap;
    margin: 0;
    padding: 0;
    list-style: none;
    font-size: 0.875rem;
  }
  .crumbs li + li::before {
    margin-inline: 0.5rem;
    color: var(--muted);
    content: '/';
  }
  .crumbs [aria-current] {
    color: var(--muted);
  }
`;
