// How an MCP server learns its caller if clients reach it directly: it verifies tokens itself. Express
// middleware.
import { protect } from '@countersign/resource';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET } = process.env;

const guard = protect({
  issuer,
  resource,
  scopes: ['notes:read'],
  client: { id: CLIENT, secret: SECRET },
});
const calls = guard.tools({ add_note: ['notes:write'] });

export const identify = [['/mcp', guard.metadataPath], guard.node()];
export const caller = ({ auth: { id } }) => ({ id });
export const judgeCalls = (request, response, next) =>
  calls(request.body).node()(request, response, next);
