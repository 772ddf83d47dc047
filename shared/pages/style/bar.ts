import { css } from './css.ts';

/** Pages below a bar with navigation and search: these parts and their lists. */
export const BAR = css`
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 0.5rem 1.5rem;
    padding: 0.25rem 1.25rem;
    border-top: 1px solid var(--line);
    background: var(--surface);
  }
  .tabs ul {
    display: flex;
    flex-wrap: wrap;
    gap: 0 1.25rem;
  }
  .tabs a {
    display: block;
    padding: 0.625rem 0;
    border-bottom: 3px solid transparent;
    color: var(--text);
    font-size: 0.9375rem;
    text-decoration: none;
  }
  .tabs a:hover {
    border-bottom-color: var(--edge);
  }
  .tabs [aria-current] {
    border-bottom-color: var(--mark);
    font-weight: 600;
  }
  .search {
    position: relative;
    display: flex;
    flex: 0 1 22rem;
    gap: 0.5rem;
    padding: 0.25rem 0;
  }
  .search .input {
    min-width: 8rem;
    min-height: 2.25rem;
    padding-block: 0.25rem;
  }
  .search .button {
    flex: none;
  }
  .search ::placeholder {
    color: var(--muted);
    opacity: 1;
  }
  .results {
    position: absolute;
    z-index: 1;
    inset: 100% 0 auto;
    padding: 0.5rem 0;
    border: 1px solid var(--line);
    border-radius: 0.625rem;
    background: var(--surface);
    box-shadow: var(--shadow);
  }
  .results li {
    padding: 0.375rem 0.875rem;
  }
  .results small {
    color: var(--muted);
  }
  .events {
    padding: 0;
  }
  .events details + details {
    border-top: 1px solid var(--line);
  }
  .events summary {
    display: flex;
    flex-wrap: wrap;
    gap: 0.125rem 1.25rem;
    padding: 0.625rem 1.25rem;
  }
  .events summary:hover {
    background: var(--soft);
  }
  .events summary .muted {
    min-width: 11rem;
    font-size: 0.875rem;
    line-height: 1.7;
  }
  .events summary::after {
    margin-inline-start: auto;
    color: var(--muted);
    content: '+';
  }
  .events [open] > summary::after {
    content: '−';
  }
  .events details[open] > summary {
    margin-bottom: 0;
  }
  .events .facts {
    padding: 0.25rem 1.25rem 1rem;
  }
  .menu[open] {
    flex-basis: 100%;
  }
  .menu .stack {
    justify-items: start;
    gap: 0.5rem;
  }
  .danger-zone {
    padding: 1.125rem 1.25rem;
    border: 1px solid var(--bad);
    border-radius: 1rem;
  }
  .danger-zone li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 0.5rem 1.5rem;
    padding: 0.625rem 0;
  }
  .danger-zone li + li {
    border-top: 1px solid var(--line);
  }
  .danger-zone li > span {
    flex: 1 1 20rem;
    color: var(--muted);
    font-size: 0.875rem;
  }
`;
