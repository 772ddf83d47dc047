import { CLI } from '#shared/base/invocation.ts';
import { isProduction } from '#shared/config/production.ts';
import type { Config } from '#shared/config/schema.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import type { Answer } from '#shared/http/answer.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { docsLink, TUTORIAL } from '#shared/pages/docs-link.ts';
import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { document } from './frame/shell.ts';
import { brandOf } from './frame/view-of.ts';
import { textsOf } from './texts/index.ts';
import type { Language } from './frame/view.ts';
import { spaceScopes } from '../resources/resource-indicators.ts';

/** The page at `/`, for developers: what is here and what to try, with the configured addresses. */
export function homePage(config: Config, language: Language): Answer {
  const { issuer, resource, spaces, brand, privateTokens } = config;
  const all = textsOf(language);
  const texts = all.home;
  const title = texts.title(brand.name);
  const made = !isProduction(config);
  const token = shellWord(`${issuer}/token`);
  const revocation = shellWord(`${issuer}/token/revocation`);
  return document(
    { language, brand: brandOf(config) },
    {
      title,
      content: html`<div class="wide">
        <div class="intro">
          <h1>${title}</h1>
          <p>${texts.lead(link(resource, texts.resourceServer))}</p>
          <p>${texts.developers(docsLink(brand, TUTORIAL))}</p>
          ${made && html`<p>${texts.made(code('first-start.txt'), code(`${CLI} login`))}</p>`}
        </div>
        <div class="buttons">
          <a class="button primary" href="/account">${texts.signIn}</a>
          <a class="button" href="/device">${all.deviceEntry.title}</a>
        </div>
        <section aria-labelledby="get">
          <h2 id="get">${texts.get}</h2>
          ${copyable(language, html`<pre>curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials ${token}</pre>`, texts.command)}
          <p>${texts.help(code(`${CLI} client add --help`))}</p>
        </section>
        <section aria-labelledby="end">
          <h2 id="end">${texts.end}</h2>
          ${copyable(language, html`<pre>curl -u CLIENT_ID:CLIENT_SECRET -d token=TOKEN ${revocation}</pre>`, texts.command)}
        </section>
        <section aria-labelledby="resources">
          <h2 id="resources">${texts.resources}</h2>
          <ul class="points">
            ${spaces.filter(({ hide }) => hide === undefined).map((space) => html`<li>${space.serves === 'push' ? code(space.url) : link(space.url)}: ${[...spaceScopes(space)].join(', ') || texts.noScopes}</li> `)}
          </ul>
        </section>
        <section aria-labelledby="programs">
          <h2 id="programs">${texts.programs}</h2>
          <ul class="points">
            <li>${link(`${issuer}/.well-known/oauth-authorization-server`)}: ${texts.metadata}</li>
            <li>${link(`${issuer}/jwks`)}: ${texts.jwks}</li>
            ${privateTokens && html`<li>${link(privateTokens.issuer + DIRECTORY_PATH)}: ${texts.tokenIssuer}</li>`}
            <li>${link(`${issuer}/health/ready`)}: ${texts.health}</li>
          </ul>
        </section>
      </div>`,
    },
  );
}

const code = (text: string) => html`<code>${text}</code>`;

function link(url: string, text = url): Html {
  return html`<a href="${url}">${text}</a>`;
}
