import { css } from './css.ts';

/** Notes, the code of a device, facts in two columns, the sign at the end of a task. */
export const PARTS = css`
  .note {
    padding: 0.75rem 1rem;
    border: 1px solid var(--line);
    border-inline-start: 0.25rem solid var(--edge);
    border-radius: 0.625rem;
    background: var(--soft);
  }
  .note > p + p {
    margin-top: 0.5rem;
  }
  .note.bad {
    border-color: var(--bad);
    background: var(--bad-soft);
    color: var(--bad);
  }
  .note.warn {
    border-inline-start-color: var(--warn);
    background: var(--warn-soft);
  }
  .note.warn strong {
    color: var(--warn);
  }
  .note.good {
    border-inline-start-color: var(--good);
  }
  /* The height includes the space below the picture, so that a picture that does not load needs neither. */
  .client-logo {
    line-height: 0;
  }
  .client-logo img {
    max-width: 100%;
    height: 4rem;
    vertical-align: top;
    object-fit: contain;
    object-position: left;
    transform: scale(0.75);
    transform-origin: top left;
  }
  .usercode {
    padding: 1rem 0.5rem;
    border: 1px solid var(--line);
    border-radius: 0.75rem;
    background: var(--soft);
    font-size: clamp(1.5rem, 9vw, 2.125rem);
    font-weight: 600;
    letter-spacing: 0.08em;
    line-height: 1.2;
    text-align: center;
  }
  .qr {
    display: block;
    width: 100%;
    max-width: 14rem;
    border-radius: 0.5rem;
  }
  .copyable {
    display: inline-flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.25rem 0.75rem;
    max-width: 100%;
  }
  .copyable > * {
    min-width: 0;
  }
  .copyable .button {
    min-height: 1.75rem;
    padding: 0 0.625rem;
    font-weight: 400;
  }
  .codes {
    display: grid;
    grid-template-columns: repeat(2, 1fr);
    gap: 0.5rem 1rem;
    padding: 1rem;
    border: 1px solid var(--line);
    border-radius: 0.75rem;
    background: var(--soft);
    list-style: none;
  }
  .picture {
    display: block;
    width: 100%;
    max-width: 30rem;
  }
  .facts {
    display: grid;
    gap: 0.25rem 1rem;
    font-size: 0.875rem;
  }
  .facts > * {
    min-width: 0;
  }
  .facts dt {
    color: var(--muted);
  }
  .facts code {
    white-space: pre-wrap;
  }
  @media (min-width: 30rem) {
    .facts {
      grid-template-columns: minmax(7.5rem, auto) 1fr;
    }
  }
  @media (max-width: 29.99rem) {
    .facts dd + dt {
      margin-top: 0.375rem;
    }
  }
  .sign {
    display: grid;
    place-items: center;
    width: 3rem;
    height: 3rem;
    border-radius: 50%;
    background: var(--soft);
    color: var(--muted);
  }
  .sign.done {
    color: var(--good);
  }
  .sign svg {
    width: 1.5rem;
    height: 1.5rem;
    fill: none;
    stroke: currentcolor;
    stroke-width: 2.25;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
`;
