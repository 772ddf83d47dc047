import { css } from './css.ts';

/** The header, and the two layouts below it: a card for one question, a wide column for reading. */
export const FRAME = css`
  .head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 0.5rem 1.5rem;
    padding: 1rem 1.25rem;
  }
  .brand {
    display: inline-flex;
    align-items: center;
    gap: 0.625rem;
    color: var(--text);
    font-weight: 650;
    letter-spacing: -0.01em;
    text-decoration: none;
  }
  .brand img {
    display: block;
    max-width: 8rem;
    height: 2rem;
    object-fit: contain;
  }
  .initial {
    display: grid;
    flex: none;
    place-items: center;
    width: 2rem;
    height: 2rem;
    border: 1px solid var(--mark);
    border-radius: 0.5rem;
    background: var(--fill);
    color: var(--on-fill);
    font-weight: 700;
    line-height: 1;
  }
  .person {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0.125rem 1.25rem;
    font-size: 0.875rem;
  }
  main {
    flex: 1;
    width: 100%;
    padding: 0.5rem 1rem 4rem;
  }
  .foot nav {
    display: flex;
    flex-wrap: wrap;
    justify-content: center;
    gap: 0.25rem 1.25rem;
    padding: 1rem 1.25rem 1.5rem;
    font-size: 0.875rem;
  }
  .card {
    display: grid;
    gap: 1.5rem;
    width: 100%;
    max-width: 27rem;
    margin: 0 auto;
    padding: 2rem;
    border: 1px solid var(--line);
    border-radius: 1rem;
    background: var(--surface);
    box-shadow: var(--shadow);
  }
  .wide {
    display: grid;
    gap: 2.75rem;
    width: 100%;
    max-width: 43rem;
    margin: 0 auto;
    padding-top: 1.5rem;
  }
  .card > *,
  .wide > * {
    min-width: 0;
  }
  .intro {
    display: grid;
    gap: 0.5rem;
  }
  .intro .note {
    margin-top: 0.5rem;
  }
  .stack {
    display: grid;
    gap: 1.125rem;
  }
  @media (min-width: 40rem) and (min-height: 44rem) {
    main:has(> .card) {
      padding-top: 7vh;
    }
  }
  @media (max-width: 26rem) {
    .card {
      padding: 1.5rem 1.25rem;
    }
    main {
      padding-inline: 0.75rem;
    }
    .head {
      padding-inline: 1rem;
    }
  }
`;
