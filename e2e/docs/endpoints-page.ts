import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import { CLIENTS, EVERYBODY } from '#shared/server/endpoints/cors.ts';
import { ENDPOINTS } from '../../authz-server/base/endpoints.ts';
import { BESIDE, OF_AUTHZ, OF_BOTH, OF_ISSUER, OF_RESOURCE } from './api/addresses.ts';
import { OPERATIONS, type Operation } from './api/operations.ts';
import { code, GENERATED, table } from './markdown.ts';

/** The page of all addresses of both servers, and of the answers of those that speak JSON. */
export function endpointsPage(): string {
  const rows = Object.entries<Endpoint>(ENDPOINTS).map(([path, endpoint]) => [
    code(path),
    endpoint.methods.join(', '),
    OF_AUTHZ[path as keyof typeof OF_AUTHZ],
    scriptsOf(endpoint),
    endpoint.limited === true ? 'yes' : '',
  ]);
  const simple = ([path, methods, purpose]: readonly [string, string, string]) => [
    code(path),
    methods,
    purpose,
  ];
  return [
    GENERATED,
    '# Endpoints',
    '',
    'This page lists every address that belongs to the two servers, and the answers of the JSON endpoints. It is for authors of clients and for operators of proxies. [openapi.json](openapi.json) has the JSON endpoints as an OpenAPI 3.1 document. [Problem types](problem-types.md) says what to do about an error.',
    '',
    'Every address also answers OPTIONS. GET always goes with HEAD. A request with another method is 405 with `Allow`, or 501 if no address of that server has the method. A path that is not here is 404, unless a space of the resource server has it.',
    '',
    '## Authorization server',
    '',
    '`:uid` means one segment. "Scripts" says which pages of other origins may read the answer: `everybody`, or `clients`: the origins of the client (`client add --help`). "Limited" addresses cost one of `limits.address` ([settings](settings.md#limits)).',
    '',
    ...table(['Path', 'Methods', 'Purpose', 'Scripts', 'Limited'], rows),
    ...table(
      ['Path', 'Methods', 'Purpose', 'Scripts', 'Limited'],
      [
        ...BESIDE.map(([path, methods, purpose]) => [
          code(path),
          methods,
          purpose,
          'everybody',
          '',
        ]),
        ...OF_BOTH.map(([path, methods, purpose]) => [code(path), methods, purpose, '', '']),
      ],
    ).slice(2),
    '',
    '## Token issuer',
    '',
    'These addresses are at the origin of `privateTokens.issuer`, in development <https://localhost:3444>.',
    '',
    ...table(['Path', 'Methods', 'Purpose'], OF_ISSUER.map(simple)),
    '',
    '## Resource server',
    '',
    'All other addresses belong to [spaces](settings.md#spaces). Below a space the [methods](methods.md) depend on its documents or its application. The addresses of HOBA exist if a space has that scheme, the addresses of `/.countersign/` if a space has `signIn`.',
    '',
    ...table(['Path', 'Methods', 'Purpose'], [...OF_RESOURCE, ...OF_BOTH].map(simple)),
    '',
    '## Answers',
    '',
    ...OPERATIONS.flatMap(answersOf),
  ].join('\n');
}

function scriptsOf({ cors }: Endpoint): string {
  if (cors === EVERYBODY) return 'everybody';
  return cors === CLIENTS ? 'clients' : '';
}

const AUTH = {
  none: '',
  client: ' The client authenticates.',
  token: ' Needs a token.',
} as const;

function answersOf({ method, path, summary, auth, parameters, answers }: Operation) {
  const given = Object.entries(parameters ?? {}).map(([name, meaning]) => [
    code(name.replace('*', '')),
    name.endsWith('*') ? 'yes' : '',
    meaning,
  ]);
  return [
    `### ${method.toUpperCase()} ${path}`,
    '',
    `${summary}${AUTH[auth]}`,
    '',
    ...(given.length > 0 ? [...table(['Parameter', 'Required', 'Meaning'], given), ''] : []),
    ...table(
      ['Status', 'Content', 'When'],
      Object.entries(answers).map(([status, { type, when }]) => [
        status,
        type === undefined ? '' : code(type),
        when,
      ]),
    ),
    '',
  ];
}
