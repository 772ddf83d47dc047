/** An application on Express with the usual kinds of answers. Argument: its port. */
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { echoOf, HINT, LONG, TRAILER } from './echo.ts';

const app = express();

app.use('/base/echo', async (request, response) => {
  response.json(await echoOf(request, request.originalUrl));
});
app.use('/base/mirror', (request, response) => pipeline(request, response));
app.all('/base/redirect', (request, response) => {
  const { searchParams } = new URL(request.url, 'http://a');
  response.redirect(Number(searchParams.get('status') ?? 302), searchParams.get('to') ?? '');
});
app.post('/base/things', (_request, response) => {
  response.status(201).location('/base/things/1').set('Content-Location', '/base/things/1').end();
});
app.get('/base/cookies', (_request, response) => {
  response.cookie('whole', '1', { path: '/base/', httpOnly: true });
  response.cookie('part', '2', { path: '/base/deeper' });
  response.cookie('other', '3', { path: '/elsewhere/' });
  response.append('Set-Cookie', 'bare=4').end();
});
app.get('/base/hints', (_request, response) => {
  response.writeEarlyHints(HINT);
  response.send('hinted');
});
app.get('/base/trailers', (_request, response) => {
  response.set('Trailer', Object.keys(TRAILER)[0]);
  response.write('content');
  response.addTrailers(TRAILER);
  response.end();
});
app.get('/base/gzip', (_request, response) => {
  response.set('Content-Encoding', 'gzip').type('text').send(gzipSync(LONG));
});
app.get('/base/page', (_request, response) => void response.send('a page with an entity tag'));
app.route('/base/only').get((_request, response) => void response.send('only'));
app.all('/base/only', (_request, response) => void response.sendStatus(405));
app.get('/base/missing', (_request, response) => void response.sendStatus(404));
app.get('/base/broken', () => {
  throw new Error('defect');
});

app.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
