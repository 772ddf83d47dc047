import { css } from './css.ts';

export const FORMS = css`
  .field {
    display: grid;
    gap: 0.375rem;
  }
  label,
  legend {
    font-weight: 600;
  }
  .input {
    width: 100%;
    min-height: 2.875rem;
    padding: 0.5rem 0.8125rem;
    border: 1px solid var(--edge);
    border-radius: 0.625rem;
    background: var(--surface);
    color: inherit;
    font: inherit;
  }
  .input:focus-visible {
    outline-offset: 0;
    border-color: var(--mark);
  }
  .input[aria-invalid] {
    border-color: var(--bad);
  }
  .input[readonly] {
    background: var(--soft);
  }
  .input.code {
    font-family: var(--mono);
    font-size: 1.375rem;
    letter-spacing: 0.12em;
    text-transform: uppercase;
  }
  .secret {
    display: flex;
    gap: 0.5rem;
  }
  .secret .button {
    flex: none;
    padding-inline: 0.875rem;
    font-weight: 400;
  }
  .button[aria-pressed='true'] {
    border-color: var(--mark);
    background: var(--soft);
    color: var(--mark);
  }
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    min-height: 2.875rem;
    padding: 0.5rem 1.25rem;
    border: 1px solid var(--edge);
    border-radius: 0.625rem;
    background: transparent;
    color: var(--text);
    font: inherit;
    font-weight: 600;
    line-height: 1.25;
    text-align: center;
    text-decoration: none;
    cursor: pointer;
    transition: background-color 0.12s;
  }
  .button:hover {
    background: var(--soft);
  }
  .button.primary {
    border-color: var(--mark);
    background: var(--fill);
    color: var(--on-fill);
  }
  .button.primary:hover {
    background: color-mix(in srgb, var(--fill) 86%, var(--shade));
  }
  .button.danger {
    border-color: var(--bad);
    color: var(--bad);
  }
  .button.danger:hover {
    background: var(--bad-soft);
  }
  .button.slim {
    min-height: 2.25rem;
    padding: 0.25rem 0.875rem;
    font-size: 0.875rem;
  }
  .stack > .button.slim {
    justify-self: start;
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 0.75rem;
  }
  .buttons > * {
    flex: 1 0 auto;
    min-width: min(9rem, 100%);
    max-width: 100%;
  }
  summary {
    cursor: pointer;
  }
  summary.button {
    list-style: none;
  }
  summary.button::-webkit-details-marker {
    display: none;
  }
  details[open] > summary {
    margin-bottom: 0.75rem;
  }
  .items {
    min-width: 0;
    border: 0;
  }
  .items legend {
    padding: 0;
    margin-bottom: 0.5rem;
    color: var(--muted);
    font-size: 0.875rem;
  }
  .asked legend {
    color: inherit;
    font-size: inherit;
    font-weight: 600;
  }
  .items > p {
    margin-bottom: 0.5rem;
  }
  .items ul {
    border: 1px solid var(--line);
    border-radius: 0.75rem;
  }
  .items li + li {
    border-top: 1px solid var(--line);
  }
  .items label {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 0.125rem 0.75rem;
    align-items: baseline;
    padding: 0.75rem 1rem;
    font-weight: 400;
    cursor: pointer;
  }
  .items label:has(:disabled) {
    cursor: default;
  }
  .items input {
    width: 1.125rem;
    height: 1.125rem;
    margin: 0;
    accent-color: var(--mark);
    transform: translateY(0.15rem);
  }
  .items small {
    grid-column: 2;
    min-width: 0;
    overflow-wrap: anywhere;
    color: var(--muted);
    font-size: 0.8125rem;
  }
`;
