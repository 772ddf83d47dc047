import { startNginx } from '../../parts/nginx.ts';
import type { RunningProcess } from '../../parts/process.ts';
import type { CertificateFiles } from '../proxy-site.ts';

export interface NginxFront {
  /** The folder for nginx's configuration and files. */
  readonly folder: string;
  /** The origin of nginx, with TLS. */
  readonly origin: string;
  /** The origin to which nginx forwards requests. */
  readonly upstream: string;
  readonly certificate: CertificateFiles;
}

/**
 * Starts Debian's nginx in front of the gateway: it terminates TLS, sends the client's
 * address, and keeps connections.
 */
export const startNginxFront = ({
  folder,
  origin,
  upstream,
  certificate: files,
}: NginxFront): Promise<RunningProcess> =>
  startNginx({
    folder,
    origin,
    http: `  upstream countersign {
    server ${new URL(upstream).host};
    keepalive 8;
  }
  server {
    listen 127.0.0.1:${new URL(origin).port} ssl;
    ssl_certificate ${files.certificate};
    ssl_certificate_key ${files.key};
    client_max_body_size 0;
    location / {
      proxy_pass http://countersign;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Forwarded "";
    }
  }`,
  });
