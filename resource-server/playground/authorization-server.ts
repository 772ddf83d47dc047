import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { exchangeOn, type Way } from './listener.ts';

/**
 * The way to the authorization server of the pair: the origin from which its keys come, whatever is asked for. The
 * messages name the issuer; over TLS its certificate is checked for the host that is dialled.
 */
export function wayToAuthorizationServer(at: string): Way {
  const { protocol, hostname, port: named } = new URL(at);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const port = Number(named || (protocol === 'https:' ? 443 : 80));
  return {
    async send(write) {
      const socket =
        protocol === 'https:'
          ? connectTls({
              host,
              port,
              ALPNProtocols: ['http/1.1'],
              ...(isIP(host) === 0 && { servername: host }),
            })
          : connect({ host, port });
      const received = await exchangeOn(socket, undefined, async (signal) => {
        await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect', { signal });
        return write(undefined);
      });
      return { received, noted: undefined };
    },
  };
}
