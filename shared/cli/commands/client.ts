import { listClients } from '#shared/operations/clients/client-list.ts';
import type { ShownClient } from '#shared/operations/clients/client-shown.ts';
import { shortNames } from '#shared/operations/clients/grant-types.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { showClient } from '#shared/operations/clients/client-show.ts';
import { clientLines } from '../clients/client-lines.ts';
import { addClient } from '#shared/operations/clients/client-add.ts';
import { jwksIn } from '#shared/operations/clients/public-jwks.ts';
import { contentOf } from '../stores/content-of.ts';
import { CLEARED, setClient } from '#shared/operations/clients/client-set.ts';
import { renewSecret } from '#shared/operations/clients/client-secret.ts';
import { type GrantOfClient, showClientAccess } from '#shared/operations/clients/client-access.ts';
import { untoldLines } from '../lines/untold.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { scopeWords } from '../lines/scope-words.ts';
import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { removeClient } from '#shared/operations/clients/client-remove.ts';

export const clientList = listCommandOf(listClients, {
  details: ['client show CLIENT prints its redirect URIs, its origins and everything else.'],
  nothing: () => 'There is no client yet.',
  lines: (items: readonly ShownClient[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['id', 'name', 'authentication', 'grants', 'scope', ''];

const row = (client: ShownClient) => [
  client.client_id,
  client.client_name,
  client.gnap ? 'GNAP' : ofOAuth(client),
  shortNames(client.grant_types),
  client.scope,
  [
    ...(client.first_party ? ['(first party)'] : []),
    ...(client.demo ? ['(demo: refused in production)'] : []),
  ].join(' '),
];

const ofOAuth = ({ token_endpoint_auth_method: method }: ShownClient) =>
  method === 'none' ? 'public' : method;

export const clientShow = commandOf(showClient, { lines: clientLines });

/** Registers a client (RFC 7591 section 2 names its members). */
export const clientAdd = commandOf(addClient, {
  details: [
    'For people there are also the scopes openid, profile, email, groups and offline_access (refresh after',
    'sign-out).',
    'With --document the command registers an MCP client by the URL of its document. The servers fetch this document now',
    'and again later. The client may get the scopes of documentClients of the spaces, even if clients.documents is off.',
    'In a RULE, VALUE is a text, or of the person: email, name, username, groups, attribute NAME. CONDITION is group NAME,',
    'person NAME, or attribute NAME is VALUE.',
  ],
  source: contentOf({
    jwks: {
      option: 'jwks',
      help: 'the public keys of the client, for private_key_jwt',
      read: jwksIn,
    },
    gnap_key: {
      option: 'gnap-key',
      help: 'the client uses GNAP with this public JWK, or this certificate in PEM',
    },
  }),
  notes: ({ notes }) => notes,
  lines: ({ client_id: id, client_secret: secret, client }) =>
    client
      ? clientLines(client)
      : [`client_id: ${id}`, ...(secret === undefined ? [] : [`client_secret: ${secret}`])],
});

export const clientSet = commandOf(setClient, {
  details: [
    `OPTION: ${CLEARED.slice(0, 6).join(', ')},`,
    `${CLEARED.slice(6).join(', ')}.`,
    'The values of an option replace all earlier values. The grants of a client, its authentication method and --native',
    'cannot change: register another client. Its tokens stay valid until they expire. After you remove a scope, the next',
    'refresh and UserInfo no longer have it.',
  ],
  source: contentOf({
    jwks: {
      option: 'jwks',
      help: 'the public keys of the client, for private_key_jwt',
      read: jwksIn,
    },
  }),
  notes: ({ notes }) => notes,
  lines: clientLines,
});

export const clientSecret = commandOf(renewSecret, {
  details: [
    'If the secret may have leaked, give --overlap 0. A client has at most one old secret: an older secret ends now.',
    'Tokens of the client stay valid until they expire; `client remove` revokes them.',
  ],
  lines: ({ client_id: id, client_secret: secret, overlap }) => [
    `client_id: ${id}`,
    `client_secret: ${secret}`,
    overlap === 0
      ? 'The old secret has ended.'
      : `The old secret ends ${overlap} seconds from now.`,
  ],
});

export const clientAccess = listCommandOf(showClientAccess, {
  nothing: ({ client_id: id }) => `Nobody has given ${id} a grant that still lives.`,
  lines: (items: readonly GrantOfClient[], widths) =>
    table(GRANT_HEADINGS, items.map(grantRow), widths),
});

const GRANT_HEADINGS = ['id', 'person', 'since', 'last use', 'by', 'scopes', 'address', 'agent'];

const grantRow = (grant: GrantOfClient) => {
  const { id, name = '(removed)', since, last_issue, device, browser, scopes } = grant;
  const { address = '', agent = '' } = device ?? browser ?? {};
  return [
    id,
    name,
    minute(since),
    lastUse(last_issue),
    device ? 'device' : 'browser',
    scopeWords(scopes),
    address,
    agent,
  ];
};

export const clientEnd = commandOf(endAccessOfClient, {
  details: ['`client access CLIENT` lists the ids.'],
  lines: ({ client_id: id, grant, untold }) => [
    grant === undefined
      ? `Everything that people had allowed ${id} has ended, and so have all of its tokens. A session of its own may go on.`
      : `The grant ${grant} of ${id} has ended.`,
    ...untoldLines(untold),
  ],
});

export const clientRemove = commandOf(removeClient, {
  lines: ({ client_id: id, client_name: name }) => [`Removed ${id} (${name}).`],
});
