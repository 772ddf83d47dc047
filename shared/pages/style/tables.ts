import { css } from './css.ts';

/** A table on a sheet, and the way to it. */
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
  .records th,
  .records td {
    overflow-wrap: anywhere;
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
