import { type Answered, OPERATIONS, type Operation, SERVERS } from './operations.ts';
import { SCHEMAS } from './schemas.ts';
import { OPERATIONS as ADMINISTRATION } from '#shared/operations/operations.ts';
import { pathOf } from '../../../authz-server/admin/api.ts';
import { administrationOf } from './administration.ts';

/** The OpenAPI document (3.1.1) of the endpoints that speak JSON. */
export function openApi(): string {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const { path } = operation;
    paths[path] = { ...paths[path], ...operationOf(operation) };
  }
  for (const operation of ADMINISTRATION) {
    paths[pathOf(operation)] = administrationOf(operation);
  }
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Countersign',
      version: '1',
      summary: 'The JSON endpoints of the authorization server and of the resource server',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: SERVERS.authz, description: 'The authorization server' }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        clientSecret: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        dpop: { type: 'http', scheme: 'DPoP' },
      },
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function serversOf(server: Operation['server']) {
  if (server === 'authz') return {};
  const urls = server === 'both' ? [SERVERS.authz, SERVERS.resource] : [SERVERS[server]];
  return { servers: urls.map((url) => ({ url })) };
}

const SECURITY = {
  none: [],
  client: [{ clientSecret: [] }, {}],
  token: [{ bearer: [] }, { dpop: [] }],
} as const;

function operationOf(operation: Operation) {
  const { method, id, summary, auth, answers, server } = operation;
  return {
    ...serversOf(server),
    [method]: {
      operationId: id,
      summary,
      security: SECURITY[auth],
      ...inputOf(operation),
      responses: Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)]),
      ),
    },
  };
}

function responseOf({ when, type, schema }: Answered) {
  if (type === undefined) return { description: when };
  const content = schema ? { schema: { $ref: `#/components/schemas/${schema}` } } : {};
  return { description: when, content: { [type]: content } };
}

interface Named {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
}

function inputOf({ method, path, parameters = {}, content }: Operation) {
  const named = Object.entries(parameters).map(([name, description]) => ({
    name: name.replace('*', ''),
    required: name.endsWith('*'),
    description,
  }));
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  if (content !== undefined) return { requestBody: { required: true, content: { [content]: {} } } };
  if (method === 'post') return named.length > 0 ? { requestBody: formOf(named) } : {};
  const inQuery = named.map(({ name, required, description }) => ({
    name,
    in: 'query',
    required,
    description,
    schema: { type: 'string' },
  }));
  return inPath.length + inQuery.length > 0 ? { parameters: [...inPath, ...inQuery] } : {};
}

function formOf(named: readonly Named[]) {
  const properties = Object.fromEntries(
    named.map(({ name, description }) => [name, { type: 'string', description }]),
  );
  const required = named.filter((one) => one.required).map(({ name }) => name);
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}
