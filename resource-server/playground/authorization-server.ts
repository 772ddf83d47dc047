import { once } from 'node:events';
import { connect } from 'node:net';
import { exchangeOn, type Way } from './listener.ts';

/** The way to the authorization server of the playground, which listens at this port. The messages name the issuer. */
export function wayToAuthorizationServer(port: number): Way {
  return {
    async send(write) {
      const socket = connect({ host: '127.0.0.1', port });
      const received = await exchangeOn(socket, undefined, async (signal) => {
        await once(socket, 'connect', { signal });
        return write(undefined);
      });
      return { received, noted: undefined };
    },
  };
}
