import { textOf } from '../server/numbers.js';
import { lua, luaString, type LuaState, textAt } from './fengari.js';
import { define, extend, fill, type Library, raise } from './library.js';
import { msgpackLibrary } from './msgpack.js';
import { structLibrary } from './struct.js';

/**
 * Numbers as in Lua 5.1, where they are doubles: fengari's integers have 32 bits. What a script computes with are then doubles:
 * numbers that come from the server, from `tonumber`, and from these functions. Only literals and lengths are integers.
 */
const numbers: Library = {
  floor: (state) => pushed(state, Math.floor(numberAt(state, 1))),
  ceil: (state) => pushed(state, Math.ceil(numberAt(state, 1))),
  max: (state) => pushed(state, Math.max(...numbersAt(state))),
  min: (state) => pushed(state, Math.min(...numbersAt(state))),
};

const strings: Library = {
  /** As C: what lies between two numbers becomes the even one. */
  format(state) {
    if (textAt(state, 1) !== '%.0f') return raise(state, 'this format is not simulated');
    const value = numberAt(state, 2);
    const floor = Math.floor(value);
    const isTie = value - floor === 0.5;
    const rounded = isTie ? floor + (floor % 2 === 0 ? 0 : 1) : Math.round(value);
    lua.lua_pushstring(state, luaString(textOf(rounded)));
    return 1;
  },
};

const HEXADECIMAL = /^\s*[+-]?0x[\da-f]+\s*$/i;
const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;
const NO_NUMBER = /^\s*([+-]?)(inf|infinity|nan)\s*$/i;

/** `tonumber` of Lua 5.1, which reads as `strtod` of C does. */
function tonumber(state: LuaState): number {
  const type = lua.lua_type(state, 1);
  if (type === lua.LUA_TNUMBER) return pushed(state, lua.lua_tonumber(state, 1));
  const value = type === lua.LUA_TSTRING ? valueIn(baseAt(state), textAt(state, 1)) : undefined;
  if (value !== undefined) return pushed(state, value);
  lua.lua_pushnil(state);
  return 1;
}

function baseAt(state: LuaState): number {
  return lua.lua_gettop(state) > 1 ? numberAt(state, 2) : 10;
}

function valueIn(base: number, text: string): number | undefined {
  if (base === 10) return valueOf(text);
  return base === 16 && /^[\da-f]+$/i.test(text) ? parseInt(text, 16) : undefined;
}

function valueOf(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  if (HEXADECIMAL.test(text)) {
    const isNegative = text.includes('-');
    return (isNegative ? -1 : 1) * Number(text.replace(/[+-]/, ''));
  }
  const [, sign, word] = NO_NUMBER.exec(text) ?? [];
  if (word === undefined) return undefined;
  if (word.toLowerCase() === 'nan') return NaN;
  return sign === '-' ? -Infinity : Infinity;
}

function numberAt(state: LuaState, index: number): number {
  if (lua.lua_type(state, index) === lua.LUA_TSTRING) {
    const value = valueOf(textAt(state, index));
    if (value !== undefined) return value;
  } else if (lua.lua_type(state, index) === lua.LUA_TNUMBER) return lua.lua_tonumber(state, index);
  return raise(state, `bad argument #${index} (number expected)`);
}

function numbersAt(state: LuaState): number[] {
  return Array.from({ length: lua.lua_gettop(state) }, (_, i) => numberAt(state, i + 1));
}

function pushed(state: LuaState, value: number): number {
  lua.lua_pushnumber(state, value);
  return 1;
}

/** Puts what scripts find beside the language itself into the globals. */
export function openLibraries(state: LuaState): void {
  define(state, 'struct', structLibrary);
  define(state, 'cmsgpack', msgpackLibrary);
  lua.lua_pushglobaltable(state);
  extend(state, 'math', numbers);
  extend(state, 'string', strings);
  fill(state, { tonumber });
  lua.lua_getfield(state, -1, luaString('table'));
  lua.lua_getfield(state, -1, luaString('unpack'));
  lua.lua_remove(state, -2);
  lua.lua_setfield(state, -2, luaString('unpack'));
  lua.lua_pop(state, 1);
}
