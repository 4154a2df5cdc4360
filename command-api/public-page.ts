import { z } from 'zod'

/** The common part of pages that a message's link opens: the token of the link says whom it is about. */
export const publicPage = {
  access: { kind: 'public' },
  query: z.object({ t: z.string().max(200).optional() }),
  fileTypes: ['text/html'],
} as const

/** The type of what their forms send. */
export const form = 'application/x-www-form-urlencoded'

export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

/** A page with this title, and this content in HTML. */
export const answered = (title: string, content: string) => {
  const style =
    'body{font:1.1rem/1.5 system-ui;max-width:36rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}'
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${style}</style><h1>${escaped(title)}</h1>${content}</html>`
  return { status: 200, body: new TextEncoder().encode(text), headers } as const
}
