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
  const calls = guard.tools({ add_note: ['notes:write'] });
  return {
    identify: [['/mcp', guard.metadataPath], guard.node()],
    caller: ({ auth: { id } }) => ({ id }),
    judgeCalls: (request, response, next) => calls(request.body).node()(request, response, next),
  };
}

/**
 * The gateway has checked the token and the scopes of the tools, and states who calls. The gateway alone reaches this
 * server.
 */
export function behindGateway() {
  const whoAsks = statementsOf(new URL(resource).origin, 'notes');
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
    judgeCalls: (_request, _response, next) => next(),
  };
}
