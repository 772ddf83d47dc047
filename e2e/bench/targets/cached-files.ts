/** @needs nginx */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { LOAD_CPU, type Server, startServer } from '../cpu.ts';

/** The contents that caches store, by name. */
export const ANSWERS = { small: 'k'.repeat(1024), medium: 'h'.repeat(100 * 1024) } as const;
/** The answer to a QUERY. */
export const FOUND = `{"found":"${'q'.repeat(1012)}"}`;

/** The path below which answers are fresh for a day, and the path that answers QUERY. */
export const PLACES = { fresh: '/fresh/', query: '/query' } as const;

/** Field names for the request that the origin answered, and for the validator of that request. */
export const MARKS = { served: 'Served', condition: 'Condition' } as const;

/**
 * Debian's nginx with files in memory, on the load generator's CPU and without a log: the cheapest possible
 * origin.
 */
export async function startCachedFiles(folder: string): Promise<Server> {
  const port = await freePort();
  const documents = join(folder, 'files');
  await mkdir(documents);
  for (const [name, content] of Object.entries(ANSWERS)) {
    await writeFile(join(documents, name), content);
  }
  const file = join(folder, 'cached-files.conf');
  await writeFile(file, configuration(folder, documents, port));
  return startServer('/usr/sbin/nginx', ['-e', join(folder, 'cached-files.log'), '-c', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'cached-files.stderr'),
    cpu: LOAD_CPU,
  });
}

const place = (path: string, answer: string) => `
    location ${path} {
      add_header Cache-Control "public, max-age=86400";
      add_header ${MARKS.served} $request_id;
      add_header ${MARKS.condition} $http_if_none_match$http_if_modified_since;
      ${answer}
    }`;

const configuration = (folder: string, documents: string, port: number) => `
daemon off;
master_process off;
pid ${folder}/cached-files.pid;
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
    ${place(PLACES.fresh, `alias ${documents}/;`)}
    ${place(PLACES.query, `return 200 '${FOUND}';`)}
  }
}
`;
