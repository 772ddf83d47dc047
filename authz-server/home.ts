import { isProduction } from '#shared/config/production.ts';
import type { Config } from '#shared/config/schema.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import type { Answer } from '#shared/server/answer.ts';
import { shellWord } from '#shared/server/page.ts';
import { html } from './pages/html.ts';
import type { Html } from './pages/html.ts';
import { document } from './pages/shell.ts';
import { spaceScopes } from './resources.ts';

/** The page at `/`, for developers: what is here and what to try, with the configured addresses. */
export function homePage(config: Config): Answer {
  const { issuer, resource, spaces, brand, privateTokens } = config;
  const title = `${brand.name} authorization server`;
  const made = !isProduction(config);
  const token = shellWord(`${issuer}/token`);
  const revocation = shellWord(`${issuer}/token/revocation`);
  return document(
    { language: 'en', brand },
    {
      title,
      content: html`<div class="wide">
        <div class="intro">
          <h1>${title}</h1>
          <p>
            People sign in here and decide what applications and devices may do in their name.
            Clients get access tokens, which open the ${link(resource, 'resource server')}. A token
            that is revoked is refused by the next request.
          </p>
          ${made && html`<p>The first start has made a person and clients to try this with: their lines are in <code>first-start.txt</code> in the data folder.</p>`}
        </div>
        <section aria-labelledby="people">
          <h2 id="people">For people</h2>
          <ul class="points">
            <li>
              <a href="/account">Your account</a>: where you are signed in, what has access, and how
              to end it
            </li>
            <li>
              <a href="/device">Connect a device</a>: enter the code that it shows. To try it, run
              <code>npm run -s cli -- login</code>: the command line is the device.
            </li>
          </ul>
        </section>
        <section aria-labelledby="get">
          <h2 id="get">Get a token</h2>
          <pre>curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials ${token}</pre>
          <p><code>npm run -s cli -- client add --help</code> says how to make a client.</p>
        </section>
        <section aria-labelledby="end">
          <h2 id="end">End a token</h2>
          <pre>curl -u CLIENT_ID:CLIENT_SECRET -d token=TOKEN ${revocation}</pre>
        </section>
        <section aria-labelledby="resources">
          <h2 id="resources">Resources and their scopes</h2>
          <ul class="points">
            ${spaces.map((space) => html`<li>${link(space.url)}: ${[...spaceScopes(space)].join(', ') || 'no scopes'}</li> `)}
          </ul>
        </section>
        <section aria-labelledby="programs">
          <h2 id="programs">For programs</h2>
          <ul class="points">
            <li>
              ${link(`${issuer}/.well-known/oauth-authorization-server`)}: what this server can do
              (RFC 8414)
            </li>
            <li>${link(`${issuer}/jwks`)}: the keys that its tokens are signed with</li>
            ${privateTokens && html`<li>${link(privateTokens.issuer + DIRECTORY_PATH)}: the token issuer (PrivateToken, RFC 9578)</li>`}
            <li>${link(`${issuer}/health/ready`)}: whether it can work now</li>
          </ul>
        </section>
      </div>`,
    },
  );
}

function link(url: string, text = url): Html {
  return html`<a href="${url}">${text}</a>`;
}
