import type { Answer } from '#shared/http/answer.ts';
import { escapeHtml, page } from '#shared/http/page.ts';
import type { SchemePlace } from '../scheme-entry.ts';
import { KEY_SCRIPT } from './key-script.ts';

/** By origin, the page where a browser makes a key, and signs with it where browsers do not do so themselves. */
export function keyPages(places: readonly SchemePlace[]): ReadonlyMap<string, Answer> {
  const byOrigin = Map.groupBy(places, ({ origin }) => origin);
  return new Map(
    [...byOrigin].map(([origin, here]) => [
      origin,
      keyPage(
        origin,
        here.map(({ url }) => url),
      ),
    ]),
  );
}

function keyPage(origin: string, spaces: readonly string[]): Answer {
  const visits = spaces.map((url) => {
    const address = escapeHtml(url);
    return `<p><button type="button" data-visit="${address}">Visit ${address}</button></p>`;
  });
  return page(
    'Key of this browser',
    `<p>A key lets this browser in at <code>${escapeHtml(origin)}</code> without a password (HOBA, RFC 7486). It is
made here, never leaves the browser, and cannot be read by anybody, this page included.</p>
<noscript><p>The key is made by a script, and this browser runs none.</p></noscript>
<p id="said" role="status"></p>
<form id="make" hidden>
<h2>Make a key</h2>
<p id="instead" hidden>It takes the place of the key that this browser has.</p>
<p><label for="name">What do you call this device?</label><br>
<input id="name" required maxlength="100" autocomplete="off"></p>
<p><button>Make a key</button></p>
</form>
<section id="key" aria-labelledby="device" hidden>
<h2 id="device"></h2>
<dl>
<dt>Lets in</dt><dd id="person"></dd>
<dt>Made</dt><dd id="made"></dd>
<dt>Fingerprint</dt><dd><code id="fingerprint"></code></dd>
</dl>
${visits.join('\n')}
<p><button type="button" id="sign-out">Sign out</button> <button type="button" id="forget">Forget this key</button></p>
</section>
<pre id="answer" tabindex="0" aria-label="Answer" hidden></pre>`,
    KEY_SCRIPT,
  );
}
