import type { Context } from 'koa';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { PagesServer } from './server.ts';

/** Returns the server with a recorder that attributes actions to the person at a page. */
export const asPerson = <Server extends Pick<PagesServer, 'recorder'>>(
  server: Server,
  person: string,
  ctx?: Context,
): Server => ({
  ...server,
  recorder: server.recorder.by({ who: { person }, how: 'page', from: ctx?.ip }),
});

/** Returns the server with a recorder that attributes the actions of a link's holder to the link's person. */
export const asHolder = <Server extends Pick<PagesServer, 'recorder'>>(
  server: Server,
  ctx: Context,
  person: string,
): Server => ({
  ...server,
  recorder: server.recorder.by({ who: { person }, how: 'link', from: ctx.ip }),
});

/** Returns a recorder for a page whose visitor has not authenticated. */
export const bySomebody = ({ recorder }: Pick<PagesServer, 'recorder'>, ctx: Context): Recorder =>
  recorder.by({ who: 'server', how: 'page', from: ctx.ip });

/** Returns the server with a recorder for changes that a source of people brings. */
export const bySource = <Server extends Pick<PagesServer, 'recorder'>>(
  server: Server,
  ctx: Context,
): Server => ({ ...server, recorder: bySomebody(server, ctx) });
