import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Middleware } from 'koa';
import { PageError } from './frame/page-error.ts';
import type { PagesServer } from '../base/server.ts';
import { answerWith } from './frame/respond.ts';

const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/** The operator's logo (`brand.logo`). A picture that somebody opens by itself can do nothing. */
export function logo({ config }: Pick<PagesServer, 'config'>): Middleware {
  const { logo: file } = config.brand;
  return async (ctx) => {
    const picture = file === undefined ? undefined : await readFile(file).catch(() => undefined);
    if (picture === undefined) throw new PageError(404, 'not-found');
    answerWith(ctx, {
      status: 200,
      fields: {
        'Content-Type': TYPES[extname(file ?? '')] ?? '',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'public, max-age=300',
      },
    });
    ctx.body = picture;
  };
}
