// Handlers behind the guard have types in each framework; compiled against the installed package.
import {
  type Claims,
  type Guarded,
  type Principal,
  protect,
  type Verdict,
} from '@countersign/resource';
import express from 'express';
import '@countersign/resource/fastify';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { createClient } from 'redis';
import { Redis } from 'ioredis';
import Koa from 'koa';
import { createServer } from 'node:http';

const guard = protect({
  issuer: 'https://auth.example',
  resource: 'https://api.example/',
  scopes: (method) => [method],
  client: { id: 'id', secret: 'secret' },
  revocation: { stale: 'allow', for: 300 },
  dpop: { replay: Math.random() > 0.5 ? createClient() : new Redis() },
  log: console,
});
const idOf = ({ id }: Principal): string => id;

const app = express();
app.use(guard.node());
app.get('/', (request, response) => void response.json(idOf(request.auth)));

const fastify = Fastify();
fastify.addHook('onRequest', guard.fastify());
fastify.get('/', async (request) => idOf(request.auth));

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

createServer(guard.node((request, response) => response.end(idOf(request.auth))));
createServer((request, response) => guard.node()(request, response, () => response.end()));

export const claims = ({ groups, email, roles }: Claims): unknown => [
  groups?.[0],
  email?.at(0),
  roles,
];

// @ts-expect-error `scopes` is no string
protect({ issuer: '', resource: '', scopes: 'notes:read' });
