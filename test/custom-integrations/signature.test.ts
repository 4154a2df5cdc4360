import { expect, test } from 'vitest'
import { signatureFault } from '../../command-api/inbound-webhooks/signature.ts'
import { sign } from './sender.ts'

const body = Buffer.from('{"a":1}')
const now = new Date(1_700_000_000_900)
const faultOf = (header: string) => signatureFault('secret', body, [header], now)
const signedAt = (seconds: number) => sign('secret', body, seconds * 1_000)

test('a time is at most 5 minutes from our clock, before or after', () => {
  expect([300, 301].map((seconds) => faultOf(signedAt(1_700_000_000 - seconds)))).toEqual([
    undefined,
    'timestamp_out_of_range',
  ])
  expect([300, 301].map((seconds) => faultOf(signedAt(1_700_000_000 + seconds)))).toEqual([
    undefined,
    'timestamp_out_of_range',
  ])
})

test('the body is signed as it came, byte for byte', () => {
  const bytes = Buffer.from([0xff, 0x00, 0xfe])
  expect(signatureFault('secret', bytes, [sign('secret', bytes, now.getTime())], now)).toBeUndefined()
})
