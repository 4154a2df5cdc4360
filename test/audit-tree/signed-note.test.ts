import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { headText, readHead } from '#infra/audit-tree/checkpoint-text.ts'
import {
  bytesOfPublicKey,
  cosignature,
  openNote,
  readVerifier,
  signNote,
  timeOfNote,
  verifierOf,
  verifierText,
} from '#infra/audit-tree/signed-note.ts'

/** Examples of the specification and of Go's own package. */
const examples = [
  [
    'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    'If you think cryptography is the answer to your problem,\nthen you don’t know what your problem is.\n'.replace(
      '’',
      "'",
    ),
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
  ],
  [
    'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    'This is an example message.\n',
    '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
  ],
] as const

test.each(examples)('the note of %s is opened with its key', (key, text, signature) => {
  const verifier = readVerifier(key)
  if (!verifier) throw new Error('This is no key.')

  expect(verifierText(verifier)).toBe(key)
  expect(openNote(`${text}\n${signature}`, [verifier])).toEqual({ text, signedBy: [verifier] })
  expect(openNote(`${text.replace('i', 'j')}\n${signature}`, [verifier])).toBeUndefined()
  expect(openNote(`${text}\n${signature}`, [])).toBeUndefined()
})

test('what we sign is opened with the key, and by nobody else’s', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const other = bytesOfPublicKey(generateKeyPairSync('ed25519').publicKey)
  const head = { origin: 'example.com/audit/installation', size: 3, root: Buffer.alloc(32, 7) }

  const note = signNote(headText(head), head.origin, privateKey, new Date('2026-11-27T10:00:00Z'))

  const verifier = verifierOf(head.origin, bytesOfPublicKey(privateKey))
  const timed = verifierOf(head.origin, bytesOfPublicKey(privateKey), cosignature)
  const opened = openNote(note, [verifierOf('other', other), verifier, timed])
  expect(readHead(opened?.text ?? '')).toEqual(head)
  expect(opened?.signedBy).toEqual([verifier, timed])
  expect(timeOfNote(note, timed)).toEqual(new Date('2026-11-27T10:00:00Z'))
  expect(openNote(note, [verifierOf(head.origin, other)])).toBeUndefined()
  for (let place = 0; place < note.length; place++) {
    const changed = `${note.slice(0, place)}${note[place] === 'x' ? 'y' : 'x'}${note.slice(place + 1)}`
    const found = openNote(changed, [verifier, timed])
    expect(found?.signedBy.length ?? 0).toBeLessThan(2)
  }
})

test('a cosignature counts for the time that it names', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const witness = verifierOf('witness.example/w1', bytesOfPublicKey(privateKey), cosignature)
  const text = headText({ origin: 'example.com/log', size: 1, root: Buffer.alloc(32) })
  const cosigned = (time: number, stated: number) => {
    const seconds = Buffer.alloc(8)
    seconds.writeBigUInt64BE(BigInt(time))
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${stated}\n${text}`), privateKey)
    const bytes = Buffer.concat([Buffer.from(witness.id, 'hex'), seconds, signature])
    return `${text}\n— ${witness.name} ${bytes.toString('base64')}\n`
  }

  expect(readVerifier(verifierText(witness))).toEqual(witness)
  expect(openNote(cosigned(1_700_000_000, 1_700_000_000), [witness])?.text).toBe(text)
  expect(openNote(cosigned(1_700_000_001, 1_700_000_000), [witness])).toBeUndefined()
})

test.each([
  'example.com/log\n1\nAAAA\n',
  'example.com/log\n01\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n',
  'example.com/log\n-1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n',
  '\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n',
  'example.com/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'example.com/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\nmore\n',
])('%j is no checkpoint', (text) => {
  expect(readHead(text)).toBeUndefined()
})

test('a checkpoint may have lines of its own at the end', () => {
  expect(readHead('example.com/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nmore\n')?.size).toBe(0)
})
