import { Router } from '@koa/router';
import type { Config } from '#shared/config/schema.ts';
import { homePage } from './home.ts';

/** The pages for people. They stand before the engine, whose routes are for programs. */
export function pages(config: Config): Router {
  const home = homePage(config);
  const router = new Router();
  router.get('/', (ctx) => {
    ctx.status = home.status;
    for (const [name, value] of Object.entries(home.fields)) ctx.res.setHeader(name, value);
    ctx.body = home.body;
  });
  return router;
}
