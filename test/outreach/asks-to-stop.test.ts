import { expect, test } from 'vitest'
import { asksToStop } from '#domain/message-news/asks-to-stop.ts'

test.each([
  'STOP',
  ' stop. ',
  'Stop!',
  'ＳＴＯＰ',
  'Unsubscribe please',
  '\n\nOpt-out\n> Hello Ann',
  'Stop all',
  '> Hello Ann\n\nQuit',
  'Stop -- all',
])('%j asks to receive no more', (text) => {
  expect(asksToStop(text)).toBe(true)
})

test.each([
  '',
  'Please do not stop',
  'Stop by at five',
  'I want to cancel my policy',
  'The end is near',
  '> STOP',
  'OK\nSTOP',
  '> Hello Ann\n\n',
  'Stop please all',
])('%j does not', (text) => {
  expect(asksToStop(text)).toBe(false)
})
