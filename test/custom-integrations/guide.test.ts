import { readFile } from 'node:fs/promises'
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { signatureFault } from '../../command-api/inbound-webhooks/signature.ts'

test('the test vector of the guide for senders is right, and is accepted', async () => {
  const guide = await readFile(new URL('../../docs/inbound-webhooks.md', import.meta.url), 'utf8')
  const cell = (name: string): string => new RegExp(`^\\| ${name}\\s*\\| \`(.*)\`\\s*\\|$`, 'm').exec(guide)?.[1] ?? ''
  const [secret, t, body, header] = ['secret', 't', 'body', 'header'].map(cell) as [string, string, string, string]

  expect(header).toBe(`t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`)
  expect(signatureFault(secret, Buffer.from(body), [header], new Date(Number(t) * 1_000))).toBeUndefined()
})
