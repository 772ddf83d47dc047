import type { Answer } from '#shared/http/answer.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { html } from '#shared/pages/html.ts';
import { KEY_SCRIPT } from './key-script.ts';
import { KEY_TEXTS } from './key-texts.ts';

export interface KeyPageProps {
  readonly origin: string;
  /** URLs of the spaces at the origin that accept the key. */
  readonly spaces: readonly string[];
}

/**
 * Returns the page on which a browser makes a key and signs with it. Browsers need this page because they do not
 * support HOBA.
 */
export function keyPage(frame: Frame, { origin, spaces }: KeyPageProps): Answer {
  const texts = KEY_TEXTS[frame.language];
  const { done, signedOut, forgotten, in: letIn, notIn, failed, noStore, none } = texts.said;
  return document(frame, {
    title: texts.title,
    script: { text: KEY_SCRIPT, asks: true },
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.lead(html`<code>${origin}</code>`)}</p>
        <noscript><p class="note warn">${texts.noScript}</p></noscript>
      </div>
      <p
        class="note"
        id="said"
        role="status"
        data-done="${done}"
        data-signed-out="${signedOut}"
        data-forgotten="${forgotten}"
        data-in="${letIn}"
        data-not-in="${notIn}"
        data-failed="${failed}"
        data-no-store="${noStore}"
        data-none="${none}"
      ></p>
      <form class="stack" id="make" hidden>
        <h2>${texts.make}</h2>
        <p id="instead" hidden>${texts.instead}</p>
        <div class="field">
          <label for="name">${texts.name}</label>
          <input class="input" id="name" required maxlength="100" autocomplete="off" />
        </div>
        <button class="button primary">${texts.make}</button>
      </form>
      <section id="key" aria-labelledby="device" hidden>
        <h2 id="device"></h2>
        <dl class="facts">
          <dt>${texts.lets}</dt>
          <dd id="person"></dd>
          <dt>${texts.made}</dt>
          <dd id="made"></dd>
          <dt>${texts.fingerprint}</dt>
          <dd><code id="fingerprint"></code></dd>
        </dl>
        ${spaces.map(
          (url) =>
            html`<button class="button" type="button" data-visit="${url}">
              ${texts.visit(url)}
            </button> `,
        )}
        <div class="buttons">
          <button class="button" type="button" id="sign-out">${texts.signOut}</button>
          <button class="button danger" type="button" id="forget">${texts.forget}</button>
        </div>
      </section>
      <pre id="answer" tabindex="0" aria-label="${texts.answer}" hidden></pre>
    </div>`,
  });
}
