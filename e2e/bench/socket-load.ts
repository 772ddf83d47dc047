import { closedLoop } from './closed-loop.ts';
import type { Server } from './cpu.ts';
import { openEchoSocket } from './echo-socket.ts';
import type { Contender } from './measure.ts';
import type { HttpRequest } from './requests.ts';

/** A server behind which an application sends every message back. */
export interface SocketContender {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
  /** Of the handshake. */
  readonly fields: HttpRequest['fields'];
  /** Fields with which it has to be answered 401; a server that anybody may ask has none. */
  readonly forged?: HttpRequest['fields'];
}

/** Sends a message on each of that many WebSockets, and the next one when it has come back. What is counted is messages. */
export function overSockets(contender: SocketContender, sockets: number): Contender {
  const { name, server, path, fields, forged } = contender;
  const open = (said: HttpRequest['fields']) =>
    openEchoSocket({ url: server.url, path, fields: said });

  return {
    name,
    server,
    async probe() {
      using socket = await open(fields);
      await socket.echo();
      if (forged === undefined) return;
      const answer = await open(forged).then(
        (opened) => {
          opened[Symbol.dispose]();
          return 'a WebSocket';
        },
        (error: unknown) => String(error),
      );
      if (!answer.endsWith(' 401')) throw new Error(`${name} gave ${answer} to what is forged`);
    },
    async prepare(seconds) {
      const opened = await Promise.all(Array.from({ length: sockets }, () => open(fields)));
      return async () => {
        const free = [...opened];
        /** One that has failed is not used again, and whoever finds none is done. */
        const visit = () => {
          const socket = free.pop();
          return socket?.echo().then(() => void free.push(socket));
        };
        const done = await closedLoop(visit, sockets, seconds);
        for (const socket of opened) socket[Symbol.dispose]();
        return done;
      };
    },
  };
}
