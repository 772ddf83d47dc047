/** The application of express.ts on Koa. Argument: its port. */
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { echoOf, HINT, LONG, TRAILER } from './echo.ts';

type Answer = (context: Koa.Context) => unknown;

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/base/echo': async (context) => {
    context.body = await echoOf(context.req, context.url);
  },
  '/base/mirror': (context) => {
    context.body = context.req;
  },
  '/base/redirect': (context) => {
    context.redirect(String(context.query['to']));
    context.status = Number(context.query['status'] ?? 302);
  },
  '/base/things': (context) => {
    context.set({ Location: '/base/things/1', 'Content-Location': '/base/things/1' });
    context.status = 201;
  },
  '/base/cookies': (context) => {
    context.cookies.set('whole', '1', { path: '/base/', httpOnly: true });
    context.cookies.set('part', '2', { path: '/base/deeper', httpOnly: false });
    context.cookies.set('other', '3', { path: '/elsewhere/', httpOnly: false });
    context.append('Set-Cookie', 'bare=4');
    context.status = 200;
  },
  '/base/hints': (context) => {
    context.res.writeEarlyHints(HINT);
    context.body = 'hinted';
  },
  '/base/trailers': (context) => {
    context.respond = false;
    context.res.writeHead(200, { Trailer: Object.keys(TRAILER)[0] });
    context.res.write('content');
    context.res.addTrailers(TRAILER);
    context.res.end();
  },
  '/base/gzip': (context) => {
    context.set({ 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain; charset=utf-8' });
    context.body = gzipSync(LONG);
  },
  '/base/page': (context) => {
    context.set('ETag', '"page"');
    context.body = 'a page with an entity tag';
    if (context.fresh) context.status = 304;
  },
  '/base/only': (context) => {
    if (context.method === 'GET') context.body = 'only';
    else context.status = 405;
  },
  '/base/broken': (context) => context.throw(500),
};

const app = new Koa();
app.silent = true;
app.use(async (context) => {
  const at = Object.keys(ANSWERS).find(
    (path) => context.path === path || context.path.startsWith(`${path}/`),
  );
  await ANSWERS[at ?? '']?.(context);
});
app.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
