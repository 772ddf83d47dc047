/** @needs nginx */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { LOAD_CPU, type Server, startServer } from '../cpu.ts';

/** The contents that caches keep, by name. */
export const ANSWERS = { small: 'k'.repeat(1024), medium: 'h'.repeat(100 * 1024) } as const;
/** The answer to a QUERY. */
export const FOUND = `{"found":"${'q'.repeat(1012)}"}`;

/** Below which the answers may be used for a day, and where QUERY is answered. */
export const PLACES = { fresh: '/fresh/', query: '/query' } as const;

/** Names the request to the origin that an answer is of, and the validator that came with it. */
export const MARKS = { served: 'Served', condition: 'Condition' } as const;

/**
 * Debian's nginx with files that it sends from memory, on the CPU of the load generator and without a log: the least
 * that can stand behind a cache.
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
