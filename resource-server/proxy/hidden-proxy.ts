import { admit } from '#shared/auth/judge/admit.ts';
import { showsConcealed } from '#shared/auth/conceal.ts';
import type { ProtectionSpace } from '#shared/auth/scheme.ts';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { type Asked, authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyHandler, AnyRequest } from '#shared/server/message/message.ts';
import { targetOf, tunnelDestination } from './asked.ts';
import type { Proxy } from './proxy.ts';
import { sideOf } from '../answers/side.ts';

export interface HiddenProxyParts {
  readonly proxy: Proxy;
  readonly space: ProtectionSpace;
  readonly recipient: Recipient;
  readonly origin: string;
  /** The handler of the resource server, to which the port seems to belong. */
  readonly seeming: AnyHandler;
}

/**
 * A forward proxy that is visible only to clients with valid credentials for it (RFC 9729 section 6.4). For all other
 * clients the port behaves like one of the resource server.
 */
export function hiddenProxy(parts: HiddenProxyParts): Proxy {
  const { proxy, space, recipient, origin, seeming } = parts;

  /**
   * Decides whether a client may see the proxy. `target`: throws the proxy's error for a request that is not for a
   * proxy.
   */
  async function finds(request: AnyRequest, target: () => string): Promise<boolean> {
    const { method = '', headers } = request;
    if (!showsConcealed(headers['proxy-authorization'])) return false;
    try {
      const asked: Asked = { method, target: target(), origin };
      const { outcome } = await admit(space, authRequest(request, asked, recipient));
      return outcome.kind === 'pass';
    } catch (error) {
      if (error instanceof BadRequest || error instanceof HttpError) return false;
      throw error;
    }
  }

  return {
    async handler(request, response) {
      const found = await finds(request, () => targetOf(request).uri);
      if (hasLeft(request)) return;
      await (found ? proxy : { handler: seeming }).handler(request, response);
    },
    async tunnel(asked) {
      const { request, authority } = asked;
      const found = await finds(request, () => {
        tunnelDestination(request, authority);
        return authority;
      });
      if (hasLeft(request)) return;
      if (found) await proxy.tunnel(asked);
      else asked.decline();
    },
  };
}

/** True if the client has left. A caller that waits for the event must subscribe before it happens. */
const hasLeft = (request: AnyRequest) => sideOf(request).destroyed;
