import { css } from './css.ts';

/** The applications that a person may open, as tiles. */
export const STARTS = css`
  .starts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr));
    gap: 0.75rem;
  }
  .starts a {
    display: flex;
    align-items: center;
    gap: 0.875rem;
    height: 100%;
    padding: 0.75rem 1rem;
    border: 1px solid var(--line);
    border-radius: 0.75rem;
    background: var(--surface);
    color: var(--text);
    text-decoration: none;
  }
  .starts a:hover {
    border-color: var(--mark);
  }
  .tile {
    display: grid;
    flex: none;
    place-items: center;
    width: 2.5rem;
    height: 2.5rem;
    border-radius: 0.5rem;
    overflow: hidden;
    background: var(--soft);
    color: var(--muted);
    font-size: 1.25rem;
    font-weight: 700;
    line-height: 0;
  }
  .tile img {
    min-width: 2.5rem;
    max-width: 2.5rem;
    height: 2.5rem;
    object-fit: contain;
  }
  .start {
    display: grid;
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;
