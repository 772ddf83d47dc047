import { css } from './css.ts';

/** The lists of sign-ins and applications, and the panels beside them. */
export const LISTS = css`
  section {
    display: grid;
    gap: 0.875rem;
  }
  section > * {
    min-width: 0;
  }
  .list {
    border: 1px solid var(--line);
    border-radius: 1rem;
    background: var(--surface);
    box-shadow: var(--shadow);
  }
  .list > li {
    display: flex;
    flex-wrap: wrap;
    align-items: flex-start;
    justify-content: space-between;
    gap: 0.875rem 1.5rem;
    padding: 1.125rem 1.25rem;
  }
  .list > li + li {
    border-top: 1px solid var(--line);
  }
  .within {
    flex-basis: 100%;
    display: grid;
    gap: 1rem;
    padding-inline-start: 1rem;
    border-inline-start: 2px solid var(--line);
  }
  .within > li {
    display: flex;
    flex-wrap: wrap;
    align-items: flex-start;
    justify-content: space-between;
    gap: 0.875rem 1.5rem;
  }
  .about {
    display: flex;
    flex-wrap: wrap;
    align-items: flex-start;
    gap: 1rem;
  }
  /*
   * An empty disc while the picture loads, or if loading fails. With a width the browser would draw the symbol of a
   * broken picture.
   */
  .portrait {
    flex: none;
    width: 4rem;
    height: 4rem;
    border-radius: 50%;
    overflow: hidden;
    background: var(--line);
    line-height: 0;
  }
  .portrait img {
    min-width: 4rem;
    max-width: 4rem;
    height: 4rem;
    object-fit: cover;
  }
  .entry {
    display: grid;
    flex: 1 1 16rem;
    gap: 0.5rem;
    min-width: 0;
  }
  .entry h3 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.125rem 0.625rem;
  }
  .tag {
    padding: 0.0625rem 0.5rem;
    border: 1px solid currentcolor;
    border-radius: 1rem;
    color: var(--good);
    font-size: 0.75rem;
    font-weight: 600;
  }
  .tag.bad {
    color: var(--bad);
  }
  .tag.open {
    color: var(--muted);
  }
  .checks {
    display: grid;
    gap: 0.625rem;
    margin: 0;
    padding-inline-start: 1.5rem;
    list-style: decimal;
  }
  .empty {
    padding: 1.125rem 1.25rem;
    border: 1px dashed var(--edge);
    border-radius: 1rem;
    color: var(--muted);
  }
  .panel {
    justify-items: start;
    padding: 1.25rem;
    border: 1px solid var(--line);
    border-radius: 1rem;
    background: var(--surface);
  }
  .panel > form {
    width: 100%;
    max-width: 24rem;
  }
  .points {
    padding-inline-start: 1.25rem;
    list-style: disc;
  }
  ol.points {
    list-style: decimal;
  }
`;
