// What is behind the guard has types, in each framework; compiled against the package as it is installed.
import { type Guarded, type Principal, protect, type Verdict } from '@countersign/resource';
import express, { type Request } from 'express';
import Fastify, { type FastifyRequest } from 'fastify';
import { Hono } from 'hono';
import { createClient } from 'redis';
import { Redis } from 'ioredis';
import Koa from 'koa';
import { createServer, type IncomingMessage } from 'node:http';

const guard = protect({
  issuer: 'https://auth.example',
  resource: 'https://api.example/',
  scopes: (method) => [method],
  client: { id: 'id', secret: 'secret' },
  revocation: { stale: 'allow', for: 300 },
  dpop: { replay: Math.random() > 0.5 ? createClient() : new Redis() },
  log: console,
});
const idOf = (principal: Principal | undefined): string =>
  principal === undefined || principal.kind === 'anonymous' ? 'nobody' : principal.id;

const app = express();
app.use(guard.node());
app.get('/', (request: Request & Guarded, response) => void response.json(idOf(request.auth)));

const fastify = Fastify();
fastify.addHook('onRequest', guard.fastify());
fastify.get('/', async (request: FastifyRequest & Guarded) => idOf(request.auth));

const koa = new Koa<Guarded>();
koa.use(guard.koa());
koa.use((context) => {
  context.body = idOf(context.state.auth);
});

const hono = new Hono<{ Variables: { auth: Principal } }>();
hono.use(async (c, next) => {
  const verdict: Verdict = await guard.judge(c.req.raw);
  if (!verdict.ok) return verdict.response;
  c.set('auth', verdict.principal);
  await next();
  return undefined;
});
hono.get('/', (c) => c.text(idOf(c.get('auth'))));

const guarded = guard.node();
createServer((request: IncomingMessage & Guarded, response) =>
  guarded(request, response, () => response.end(idOf(request.auth))),
);

// @ts-expect-error `scopes` is no string
protect({ issuer: '', resource: '', scopes: 'notes:read' });
// @ts-expect-error a preflight has no id
export const id: string = (guard as unknown as { auth: Principal }).auth.id;
