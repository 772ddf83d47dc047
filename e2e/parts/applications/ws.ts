/** An application with a page and a WebSocket, on the package ws. Argument: its port. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>Sockets</title><h1>Sockets</h1>');
});
const sockets = new WebSocketServer({ server, perMessageDeflate: true });
sockets.on('connection', (socket, { url, headers }) => {
  const { authorization, 'x-auth-statement': statement, 'x-forwarded-host': host } = headers;
  socket.send(JSON.stringify({ url, authorization, stated: statement !== undefined, host }));
  socket.on('message', (message, binary) => socket.send(message, { binary }));
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
