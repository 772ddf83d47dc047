// How an MCP server learns its caller if only the gateway can reach it. The gateway has checked the token
// and the scopes of the tools, and sends a statement of the caller. Express middleware.
import { statementsOf } from './verify-statement.mjs';

const whoAsks = statementsOf(new URL(process.env.RESOURCE).origin, 'notes');

export const identify = [
  '/mcp',
  async (request, response, next) => {
    request.stated = await whoAsks(request.headers['x-auth-statement']).catch(() => undefined);
    if (request.stated) next();
    else response.status(401).end();
  },
];
export const caller = ({ stated: { sub } }) => ({ id: sub });
export const judgeCalls = (_request, _response, next) => next();
