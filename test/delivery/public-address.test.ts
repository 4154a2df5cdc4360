import { describe, expect, test } from 'vitest'
import { isPublicAddress, makeAllowList } from '#infra/public-address.ts'

describe('an address that may be reached', () => {
  test.each(['8.8.8.8', '93.184.215.14', '::ffff:8.8.8.8', '2606:4700:4700::1111', '2a00:1450:4009:81f::200e'])(
    'is public: %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  test.each([
    ['this machine', ['127.0.0.1', '127.1.2.3', '::1', '0.0.0.0', '0.1.2.3', '::']],
    ['this machine, in disguise', ['0177.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '127.1', '017700000001']],
    ['a private network', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1']],
    ['the network around', ['169.254.169.254', 'fe80::1', 'febf::1', 'fec0::1', '100.64.0.1', '100.127.255.255']],
    ['many at once', ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1']],
    [
      'reserved',
      ['192.0.0.1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '240.0.0.1', '2001:db8::1', '100::1', '4000::1'],
    ],
    ['IPv4 within IPv6', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a00:1', '::127.0.0.1', '::7f00:1']],
    [
      'a gateway to IPv4',
      ['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::', '::ffff:0:7f00:1'],
    ],
    ['no address', ['', 'localhost', '127.0.0.1.example.com', '1.2.3.4.5', '256.1.1.1', '[::1']],
  ])('is not %s: %j', (_what, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })
})

describe('the allow-list of the operator', () => {
  const list = makeAllowList([
    '10.1.0.0/16',
    '127.0.0.1:4010',
    'crm.internal',
    'erp.internal:8443',
    '[::1]:80',
    'fd00::/8',
  ])

  test.each([
    ['anything.example.com', 443, '10.1.2.3', true],
    ['anything.example.com', 443, '10.2.2.3', false],
    ['anything.example.com', 443, '::ffff:10.1.2.3', true],
    ['127.0.0.1', 4010, '127.0.0.1', true],
    ['127.0.0.1', 4011, '127.0.0.1', false],
    ['localhost', 4010, '127.0.0.1', true],
    ['crm.internal', 443, '192.168.7.7', true],
    ['CRM.internal.', 9, '192.168.7.7', true],
    ['other.crm.internal', 443, '192.168.7.7', false],
    ['erp.internal', 8443, '192.168.7.7', true],
    ['erp.internal', 443, '192.168.7.7', false],
    ['[::1]', 80, '::1', true],
    ['[::1]', 81, '::1', false],
    ['anything.example.com', 443, 'fd12::1', true],
    ['anything.example.com', 443, 'fe80::1', false],
  ])('%s, port %i, at %s: %s', (host, port, address, isAllowed) => {
    expect(list.reaches(host, port, address)).toBe(isAllowed)
  })

  test('names a host only as it stands in an address: what a name resolves to is another question', () => {
    expect(list.names('crm.internal', 80)).toBe(true)
    expect(list.names('127.0.0.1', 4010)).toBe(true)
    expect(list.names('localhost', 4010)).toBe(false)
  })

  test('refuses an entry that it does not understand', () => {
    expect(() => makeAllowList(['https://crm.internal'])).toThrow('https://crm.internal is neither a host')
  })

  test('empty, allows nothing', () => {
    expect(makeAllowList([]).reaches('127.0.0.1', 80, '127.0.0.1')).toBe(false)
  })
})
