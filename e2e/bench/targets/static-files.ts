/** @needs nginx */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { LOAD_CPU, type Server, startServer } from '../cpu.ts';

/** The contents behind the gateways, by name. */
export const FILES = { small: 'k'.repeat(1024), large: 'm'.repeat(1024 ** 2) } as const;

/**
 * Debian's nginx with two files in memory, on the load generator's CPU and without a log: the cheapest
 * possible upstream.
 */
export async function startStaticFiles(folder: string): Promise<Server> {
  const port = await freePort();
  const documents = join(folder, 'files');
  await mkdir(documents);
  for (const [name, content] of Object.entries(FILES)) {
    await writeFile(join(documents, name), content);
  }
  const file = join(folder, 'static-files.conf');
  await writeFile(file, configuration(folder, documents, port));
  return startServer('/usr/sbin/nginx', ['-e', join(folder, 'static-files.log'), '-c', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'static-files.stderr'),
    cpu: LOAD_CPU,
  });
}

const configuration = (folder: string, documents: string, port: number) => `
daemon off;
master_process off;
pid ${folder}/static-files.pid;
events { worker_connections 1024; }
http {
  access_log off;
  default_type text/plain;
  sendfile on;
  open_file_cache max=10;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  server {
    listen 127.0.0.1:${port};
    root ${documents};
  }
}
`;
