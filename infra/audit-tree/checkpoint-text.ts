import { hashBytes } from './tiles.ts'

/** The state of a log that is signed (C2SP tlog-checkpoint). */
export type LogHead = { readonly origin: string; readonly size: number; readonly root: Buffer }

export const headText = ({ origin, size, root }: LogHead): string => `${origin}\n${size}\n${root.toString('base64')}\n`

/** Undefined for what is no text of a checkpoint. */
export const readHead = (text: string): LogHead | undefined => {
  const [origin = '', digits = '', encoded = '', ...others] = text.split('\n')
  const root = Buffer.from(encoded, 'base64')
  const size = Number(digits)
  if (origin === '' || others.at(-1) !== '' || others.slice(0, -1).includes('')) return undefined
  if (!/^(0|[1-9]\d*)$/.test(digits) || !Number.isSafeInteger(size)) return undefined
  return root.length === hashBytes && root.toString('base64') === encoded ? { origin, size, root } : undefined
}
