import type { Config } from '#shared/config/schema.ts';
import { metadataUrl } from '#shared/auth/protected-resource.ts';
import type { Answer } from '#shared/http/answer.ts';
import { escapeHtml, page, shellWord } from '#shared/http/page.ts';
import type { Space, Spaces } from './spaces.ts';

/** The page at `/`: what is here and what to try, with the configured addresses. */
export function homePage({ issuer, resource, tls, brand }: Config, spaces: Spaces): Answer {
  const all = spaces.seen
    .filter(({ origin, hide }) => origin !== tls?.resource && hide === undefined)
    .filter((space) => space.schemes.length === 0 || announced(space).length > 0);
  const again = tls
    ? `All of it is at <a href="${escapeHtml(tls.resource)}">${escapeHtml(tls.resource)}</a>, too.`
    : '';
  const authorizationServer = escapeHtml(issuer);
  const here = escapeHtml(resource);
  return page(
    `${brand.name} resource server`,
    `<p>This server keeps documents and lets in whoever shows credentials for them. Tokens come from the
authorization server at <a href="${authorizationServer}">${authorizationServer}</a>. A token that is
revoked is refused by the next request. ${again}</p>
${all
  .filter(({ serves }) => serves !== 'identity')
  .map((space) => section(space, issuer))
  .join('\n')}
${trials(all.filter(({ serves }) => serves === 'identity'))}
<h2>For operators</h2>
<p><code>${here}/health/ready</code> says whether the server can work. <code>${here}/verify</code>
answers a trusted reverse proxy whether a request may pass.</p>`,
  );
}

/** Names of the schemes of a space that anybody may know of. */
const announced = ({ schemes }: Space) =>
  schemes.flatMap(({ name, unannounced }) => (unannounced ? [] : name));

function section(space: Space, issuer: string): string {
  const schemes = announced(space);
  const own =
    space.serves === 'documents' && space.tree === 'own'
      ? 'Every person and application finds a tree of their own there, which can be mounted (WebDAV).'
      : '';
  const tokens = schemes.includes('Bearer') || schemes.includes('DPoP');
  const example =
    space.serves === 'documents' && schemes.includes('Bearer')
      ? `<pre>${escapeHtml(tour(space, issuer))}</pre>`
      : '';
  return `<h2>${escapeHtml(space.realm)}</h2>
<p><code>${escapeHtml(space.url)}</code> takes ${escapeHtml(schemes.join(', '))}. Reading needs
${needed(space.scopes('GET'))}, writing ${needed(space.scopes('PUT'))}. ${own}
${tokens ? `<a href="${escapeHtml(metadataUrl(space.url))}">Its metadata</a>.` : ''}</p>
${example}`;
}

/** Spaces that only say who the client is. */
function trials(spaces: readonly Space[]): string {
  if (spaces.length === 0) return '';
  const rows = spaces.map(
    (space) =>
      `<li><a href="${escapeHtml(space.url)}">${escapeHtml(space.url)}</a>: ${escapeHtml(announced(space).join(', '))}</li>`,
  );
  return `<h2>For authors of clients</h2>
<p>Each of these answers, in JSON, who the client is and by which scheme:</p>
<ul>
${rows.join('\n')}
</ul>`;
}

function needed(scopes: readonly string[]): string {
  if (scopes.length === 0) return 'no scope';
  return `the scope <code>${escapeHtml(scopes.join(' '))}</code>`;
}

function tour({ url, allScopes }: Space, issuer: string): string {
  const folder = url.endsWith('/') ? url : `${url}/`;
  const scope = allScopes.length > 0 ? `-d scope=${shellWord(allScopes.join(' '))} ` : '';
  const token = '-H "Authorization: Bearer $TOKEN"';
  return `TOKEN=$(curl -s -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials \\
  -d resource=${shellWord(url)} ${scope}${shellWord(`${issuer}/token`)} \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl ${token} -H 'Content-Type: text/plain' -X PUT -d Hello ${shellWord(`${folder}hello.txt`)}
curl ${token} ${shellWord(`${folder}hello.txt`)}
curl ${token} ${shellWord(folder)}`;
}
