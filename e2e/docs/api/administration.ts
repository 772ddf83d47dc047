import * as z from 'zod';
import type { Operation } from '#shared/operations/operation.ts';

/** Returns the path item of an operation of administrators. */
export function administrationOf(operation: Operation) {
  const { name, summary, effect, output } = operation;
  const scope = effect === 'reads' ? 'admin:read' : 'admin';
  const told = { schema: schemaOf(output, 'output') };
  return {
    [effect === 'reads' ? 'get' : 'post']: {
      operationId: name.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase()),
      summary: `${summary[0]?.toUpperCase()}${summary.slice(1)}. Scope \`${scope}\`.`,
      security: [{ bearer: [] }, { dpop: [] }],
      ...inputOf(operation),
      responses: {
        200: { description: 'It is done, or read.', content: { 'application/json': told } },
        ...Object.fromEntries(
          Object.entries(REFUSALS).map(([status, description]) => [
            status,
            problem(description, status),
          ]),
        ),
      },
    },
  };
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'No token, one that is not accepted, or a sign-in that is too long ago or too weak (RFC 9470).',
  403: 'The token lacks the scope.',
  404: 'There is nothing by this name or id; or the caller is no administrator.',
  409: 'The operation does not fit the state of things. The detail says what to do.',
  422: 'A member is not what the operation takes: `path` points to it (RFC 6901).',
  429: 'Too many requests. `Retry-After` says when to try again.',
  503: 'The store does not answer. Try again.',
};

const problem = (description: string, status: string) => ({
  description,
  content: {
    'application/problem+json': {
      schema: {
        $ref: `#/components/schemas/${CODED.has(status) ? 'RefusedOperation' : 'Problem'}`,
      },
    },
  },
});

/** The statuses of refused operations. */
const CODED: ReadonlySet<string> = new Set(['404', '409', '422']);

function inputOf({ effect, input }: Operation) {
  const { properties = {}, required = [], ...whole } = schemaOf(input, 'input');
  if (effect === 'changes') {
    const schema = { ...whole, properties, required };
    return { requestBody: { required: true, content: { 'application/json': { schema } } } };
  }
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  return parameters.length > 0 ? { parameters } : {};
}

/** JSON Schema 2020-12, which OpenAPI 3.1 has as its own. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
