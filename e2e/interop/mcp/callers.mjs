// The two ways in which an MCP server behind Countersign learns who calls it, each as middleware of Express.
import { protect } from '@countersign/resource';
import { statementsOf } from './verify-statement.mjs';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET } = process.env;

/** The server is reached directly, and checks tokens itself. */
export function behindGuard() {
  const guard = protect({
    issuer,
    resource,
    scopes: ['notes:read'],
    client: { id: CLIENT, secret: SECRET },
  });
  return {
    identify: [['/mcp', guard.metadataPath], guard.node()],
    caller: ({ auth: { id } }) => ({ id }),
    writes: guard.scopes('notes:write').node(),
  };
}

/** The gateway has checked the token, and states whose it was. The gateway alone reaches this server. */
export function behindGateway() {
  const { origin, pathname } = new URL(resource);
  const whoAsks = statementsOf(origin, 'notes');
  const challenge = [
    'Bearer error="insufficient_scope"',
    'scope="notes:read notes:write"',
    `resource_metadata="${origin}/.well-known/oauth-protected-resource${pathname}"`,
  ].join(', ');
  return {
    identify: [
      '/mcp',
      async (request, response, next) => {
        request.stated = await whoAsks(request.headers['x-auth-statement']).catch(() => undefined);
        if (request.stated) next();
        else response.status(401).end();
      },
    ],
    caller: ({ stated: { sub } }) => ({ id: sub }),
    writes: ({ stated }, response, next) => {
      if (stated.scope?.split(' ').includes('notes:write')) next();
      else response.status(403).set('WWW-Authenticate', challenge).end();
    },
  };
}
