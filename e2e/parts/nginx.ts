/** @needs nginx */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningProcess, startProcess } from './process.ts';
import { rawHttp } from './raw-http.ts';

/** Where nginx runs, and what it serves. */
export interface Nginx {
  /** The folder for the configuration and the files of nginx. */
  readonly folder: string;
  /** An origin of nginx, on 127.0.0.1. */
  readonly origin: string;
  /** The text of the block `http` in the configuration. */
  readonly http: string;
}

/** Starts Debian's nginx as a single process, so that ending the process ends all of nginx. */
export async function startNginx({ folder, origin, http }: Nginx): Promise<RunningProcess> {
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${folder}/${name};`)
    .join('\n');
  await writeFile(
    file,
    `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
${temporary}
${http}
}
`,
  );
  const { port } = new URL(origin);
  return startProcess('/usr/sbin/nginx', ['-p', folder, '-c', file], {
    ready: async () => (await rawHttp(`http://127.0.0.1:${port}`, 'GET /\r\n\r\n')).length > 0,
  });
}
